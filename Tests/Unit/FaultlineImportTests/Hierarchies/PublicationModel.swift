internal import FaultlineCoreData
internal import Foundation

/// A model with a hierarchy of three levels; the folder `Written` has its classes as they are written.
enum PublicationModel {
    private static let entities = """
            <entity name="Label" representedClassName="Label" syncable="YES">
                <attribute name="name" attributeType="String" defaultValueString=""/>
                <relationship name="magazines" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="Magazine" inverseName="tags" inverseEntity="Magazine"/>
            </entity>
            <entity name="Magazine" representedClassName="Magazine" parentEntity="Serial" elementID="Periodical" syncable="YES">
                <attribute name="editor" attributeType="String" elementID="chief"/>
                <attribute name="cover" optional="YES" attributeType="Binary" allowsExternalBinaryDataStorage="YES"/>
                <attribute name="draft" optional="YES" attributeType="String" transient="YES"/>
                <relationship name="tags" optional="YES" toMany="YES" ordered="YES" deletionRule="Nullify" destinationEntity="Label" inverseName="magazines" inverseEntity="Label"/>
            </entity>
            <entity name="Monograph" representedClassName="Monograph" parentEntity="Publication" syncable="YES">
                <attribute name="isbn" optional="YES" attributeType="String"/>
                <attribute name="pages" attributeType="Integer 16" defaultValueString="1"/>
                <attribute name="volume" optional="YES" attributeType="String"/>
                <relationship name="sequel" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Publication"/>
                <relationship name="reviews" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="Review"/>
                <uniquenessConstraints>
                    <uniquenessConstraint><constraint value="isbn"/><constraint value="title"/></uniquenessConstraint>
                </uniquenessConstraints>
            </entity>
            <entity name="Publication" representedClassName="Publication" isAbstract="YES" syncable="YES">
                <attribute name="title" attributeType="String"/>
                <attribute name="code" optional="YES" attributeType="Integer 64"/>
                <attribute name="added" attributeType="Date" defaultDateTimeInterval="0"/>
                <relationship name="shelf" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Shelf" inverseName="publications" inverseEntity="Shelf"/>
                <fetchIndex name="byTitle"><fetchIndexElement property="title" type="Binary" order="ascending"/></fetchIndex>
                <uniquenessConstraints>
                    <uniquenessConstraint><constraint value="code"/></uniquenessConstraint>
                </uniquenessConstraints>
            </entity>
            <entity name="Review" representedClassName="Review" syncable="YES">
                <attribute name="text" optional="YES" attributeType="String"/>
            </entity>
            <entity name="Serial" representedClassName="Serial" parentEntity="Publication" syncable="YES">
                <attribute name="frequency" attributeType="Integer 32"/>
                <attribute name="volume" optional="YES" attributeType="Integer 16"/>
                <relationship name="featuredOn" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Shelf" inverseName="feature" inverseEntity="Shelf"/>
                <relationship name="reviews" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="Review"/>
                <fetchIndex name="byFrequency">
                    <fetchIndexElement property="frequency" type="Binary" order="ascending"/>
                    <fetchIndexElement property="title" type="Binary" order="ascending"/>
                </fetchIndex>
            </entity>
            <entity name="Shelf" representedClassName="Shelf" syncable="YES">
                <attribute name="place" attributeType="String"/>
                <relationship name="publications" optional="YES" toMany="YES" ordered="YES" deletionRule="Cascade" destinationEntity="Publication" inverseName="shelf" inverseEntity="Publication"/>
                <relationship name="feature" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Serial" inverseName="featuredOn" inverseEntity="Serial"/>
            </entity>
        """

    static func version() throws -> ModelVersion {
        let text = """
            <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
            <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
            \(entities)
            </model>
            """
        return try ModelVersion(xml: Data(text.utf8), name: "Publications")
    }
}
